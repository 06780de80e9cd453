import {Composition} from 'remotion';
import {Title} from './Title';

export const Root = () => (
	<Composition
		id="Main"
		component={Title}
		durationInFrames={60}
		fps={30}
		width={640}
		height={360}
		defaultProps={{title: 'RenderMac', colour: '#1f6f5c'}}
	/>
);
